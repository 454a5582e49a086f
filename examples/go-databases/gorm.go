package main

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/flakeid/flakeid/go"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

// Customer has a primary key that GORM would treat as a serial number. Without autoIncrement:false, GORM omits an ID of
// 0 from the INSERT, and the database numbers the rows 1, 2, 3.
type Customer struct {
	ID        flakeid.ID `gorm:"primaryKey;autoIncrement:false"`
	Name      string
	Purchases []Purchase
}

type Purchase struct {
	ID         flakeid.ID `gorm:"primaryKey;autoIncrement:false"`
	CustomerID flakeid.ID
	Item       string
}

// Parcel has a primary key that is a UUID in the database.
type Parcel struct {
	ID     flakeid.IDAsUUID `gorm:"primaryKey"`
	PartOf *flakeid.IDAsUUID
}

// issueIDs gives a new ID to each row whose primary key is a flakeid.ID or flakeid.IDAsUUID of 0, before GORM inserts
// the row.
func issueIDs(database *gorm.DB, generator *flakeid.Generator) error {
	types := []reflect.Type{reflect.TypeOf(flakeid.ID(0)), reflect.TypeOf(flakeid.IDAsUUID(0))}
	return database.Callback().Create().Before("gorm:create").Register("flakeid:ids", func(tx *gorm.DB) {
		if tx.Statement.Schema == nil {
			return
		}
		for _, field := range tx.Statement.Schema.PrimaryFields {
			if !slices.Contains(types, field.FieldType) {
				continue
			}
			fill := func(row reflect.Value) {
				if _, isZero := field.ValueOf(tx.Statement.Context, row); !isZero {
					return
				}
				id, err := generator.NextID()
				if err == nil {
					err = field.Set(tx.Statement.Context, row, reflect.ValueOf(id).Convert(field.FieldType).Interface())
				}
				tx.AddError(err)
			}
			switch rows := tx.Statement.ReflectValue; rows.Kind() {
			case reflect.Slice, reflect.Array:
				for index := 0; index < rows.Len(); index++ {
					fill(reflect.Indirect(rows.Index(index)))
				}
			case reflect.Struct:
				fill(rows)
			}
		}
	})
}

func withGorm(url string, generator *flakeid.Generator) error {
	database, err := gorm.Open(postgres.Open(url), &gorm.Config{})
	if err != nil {
		return err
	}
	if err := issueIDs(database, generator); err != nil {
		return err
	}
	if err := database.AutoMigrate(&Customer{}, &Purchase{}, &Parcel{}); err != nil {
		return err
	}
	customer := Customer{Name: "Ada", Purchases: []Purchase{{Item: "tea"}, {Item: "cup"}}}
	if err := database.Create(&customer).Error; err != nil {
		return err
	}
	var found Customer
	if err := database.Preload("Purchases").First(&found, customer.ID).Error; err != nil {
		return err
	}
	if found.ID != customer.ID || len(found.Purchases) != 2 || found.Purchases[0].CustomerID != customer.ID {
		return fmt.Errorf("%+v is not %+v", found, customer)
	}
	whole := Parcel{}
	if err := database.Create(&whole).Error; err != nil {
		return err
	}
	part := Parcel{PartOf: &whole.ID}
	if err := database.Create(&part).Error; err != nil {
		return err
	}
	var parts []Parcel
	if err := database.Where("id > ?", whole.ID).Find(&parts).Error; err != nil {
		return err
	}
	if len(parts) != 1 || parts[0].ID != part.ID || *parts[0].PartOf != whole.ID {
		return fmt.Errorf("%+v is not %+v", parts, part)
	}
	fmt.Println("GORM:", found.ID, "bought", found.Purchases[0].ID, "and", found.Purchases[1].ID)
	return nil
}
